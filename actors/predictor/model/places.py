"""Places say which parts of an address vary: learned from visits, in log order.

`actors/rules/pages/address.py` makes `*` of what is an id by its looks. Names of things look like
words: `/customers/aurora-shipping`, `/wiki/Rope`, `/ann/boats`. What tells them from the parts of a
site (`/orders`, `/customers/new`) is how they are visited. A site has a few parts, and most are
soon come back to; things are many, and most were seen once. So what is below one parent varies when

- many children were visited once: 16, or 32 right below the host, where menus are; one that is
  written as names and titles are (`-`, `%`, a capital, many letters) counts for two, and
- these are two in three of all children; or there are more than 100, which is no menu.

A visit is another child than the last one of that parent: ten steps on one page are one visit, and
so is coming back to it from the list. Children with three visits or more keep their name when the
others lose theirs: `/customers/new` beside `/customers/*`. A mistake costs little: a page that is
known by too fine or too coarse a name tells nothing, and the history is left. (Tried on made-up
visits: 25 parts at one level, some used more than others, kept their names unless all of those
looked like titles; 200 things or more lost them after 8 to 30 visits, at the top after 16 to 90.)
"""

ONCE = 1  # visits of what may be a thing
FEW = 2  # visits of what loses its name with the others
MANY = 16  # children that were visited once, from which on they vary
MANY_AT_TOP = 32
WIDE = 100  # children of one parent
DEEP = 16  # segments of a path that are looked at: what is behind them stays as it is
ROOM = 20_000  # nodes: once they are used up what is new stays as it is
LONG = 20  # letters of a name that is no single word
ENDLESS = 100  # letters of what is certainly none of a site's own parts
ANY = "*"
_TITLED = frozenset("-_.%@+~,:;'()")


class Node:
    """A node is one part of an address, and what was seen below it."""

    __slots__ = ("children", "last", "varies", "visits")

    def __init__(self) -> None:
        self.visits = 0
        self.varies = False
        self.last: str | None = None  # the child that was visited last
        self.children: dict[str, Node] = {}

    def name_of(self, segment: str) -> str:
        """What a child is called here."""
        return ANY if self.varies and segment not in self.children else segment


class Places:
    """Places fold the places of a log: `see` them in its order, ask for the `pattern` of any."""

    def __init__(self) -> None:
        self.sites: dict[str, Node] = {}
        self.size = 0

    def see(self, place: str) -> None:
        site, segments, _ = _parts(place)
        if not segments:
            return
        node = self.sites.get(site) or self._added(self.sites, site)
        many = MANY_AT_TOP
        for segment in segments[:DEEP]:
            if node is None:
                return
            node = self._visit(node, segment, many)
            many = MANY

    def pattern(self, place: str) -> str:
        """The place with `*` for every part that varies."""
        site, segments, state = _parts(place)
        node = self.sites.get(site)
        found = [site]
        for segment in segments:
            name = node.name_of(segment) if node is not None else segment
            node = node.children.get(name) if node is not None else None
            found.append(name)
        return "/".join(found) + state

    def _added(self, children: dict[str, Node], name: str) -> Node | None:
        if self.size >= ROOM:
            return None
        self.size += 1
        child = children[name] = Node()
        return child

    def _visit(self, parent: Node, segment: str, many: int) -> Node | None:
        """The child of that name, visited; none if there is no room for it."""
        name = parent.name_of(segment)
        known = parent.children.get(name)
        child = known or self._added(parent.children, name)
        if child is None:
            return None
        if parent.last != segment:
            parent.last = segment
            child.visits += 1
        if known is None and _do_vary(parent, many):
            self._merge_seldom(parent)
            return parent.children[parent.name_of(segment)]
        return child

    def _merge_seldom(self, parent: Node) -> None:
        """Children that are seldom visited become one."""
        children = parent.children
        one = children.pop(ANY, None)
        if one is None:
            one = Node()
            self.size += 1
        parent.varies = True
        parent.children = {}
        for name, child in children.items():
            if child.visits > FEW:
                parent.children[name] = child
            else:
                self._merge(one, child)
        parent.children[ANY] = one

    def _merge(self, one: Node, other: Node) -> None:
        self.size -= 1
        one.visits += other.visits
        if other.varies and not one.varies:
            self._merge_seldom(one)
        for name, child in other.children.items():
            known = one.children.get(one.name_of(name))
            if known is None:
                one.children[name] = child
            else:
                self._merge(known, child)
        if _do_vary(one, MANY):
            self._merge_seldom(one)


def _do_vary(parent: Node, many: int) -> bool:
    children = parent.children
    if parent.varies or len(children) * 2 < many:
        return False
    if len(children) > WIDE:
        return True
    once = [name for name, child in children.items() if child.visits <= ONCE and name != ANY]
    return len(once) * 3 >= len(children) * 2 and sum(map(_counts_for, once)) >= many


def _counts_for(name: str) -> int:
    titled = len(name) > LONG or any(char in _TITLED or char.isupper() for char in name)
    return 2 if titled else 1


def _parts(place: str) -> tuple[str, list[str], str]:
    """The site, the segments of the path, and the state with the space before it."""
    address, space, state = place.partition(" ")
    scheme, mark, rest = address.partition("://")
    if not mark:
        return address, [], space + state
    host, *segments = rest.split("/")
    named = [ANY if len(segment) > ENDLESS else segment for segment in segments]
    return f"{scheme}://{host}", named, space + state
