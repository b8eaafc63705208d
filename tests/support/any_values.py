"""Any value of any of our types is found by looking at the type: no list to keep up to date."""

from functools import lru_cache
from typing import Any

import msgspec
from hypothesis import strategies as st
from msgspec import inspect

Leaves = dict[type[inspect.Type], st.SearchStrategy[Any]]

LEAVES: Leaves = {
    inspect.StrType: st.text(max_size=12),
    inspect.IntType: st.integers(-(2**63), 2**63 - 1),
    inspect.BoolType: st.booleans(),
    inspect.BytesType: st.binary(max_size=40),
    inspect.NoneType: st.none(),
}


@lru_cache(maxsize=256)
def from_struct(struct: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    """Instances of a struct type, with nested ones, defaults and every member of a union."""
    return _of(inspect.type_info(struct), LEAVES)


def from_few_values(
    struct: type[msgspec.Struct], texts: list[str], numbers: list[int]
) -> st.SearchStrategy[Any]:
    """Instances whose leaves are so few that two of them are often equal in part."""
    few: Leaves = {
        inspect.StrType: st.sampled_from(texts),
        inspect.IntType: st.sampled_from(numbers),
    }
    return _of(inspect.type_info(struct), LEAVES | few)


def _of(info: inspect.Type, leaves: Leaves) -> st.SearchStrategy[Any]:
    match info:
        case inspect.StructType():
            fields = {field.name: _of_field(field, leaves) for field in info.fields}
            return st.builds(info.cls, **fields)
        case inspect.LiteralType():
            return st.sampled_from(info.values)
        case inspect.UnionType():
            return st.one_of([_of(member, leaves) for member in info.types])
        case inspect.VarTupleType():
            return st.lists(_of(info.item_type, leaves), max_size=3).map(tuple)
        case inspect.TupleType():
            return st.tuples(*[_of(item, leaves) for item in info.item_types])
        case inspect.DictType():
            keys, values = _of(info.key_type, leaves), _of(info.value_type, leaves)
            return st.dictionaries(keys, values, max_size=4)
        case _:
            return leaves[type(info)]  # a KeyError names what is missing here


def _of_field(field: inspect.Field, leaves: Leaves) -> st.SearchStrategy[Any]:
    strategy = _of(field.type, leaves)
    if field.default is msgspec.NODEFAULT:
        return strategy
    return st.just(field.default) | strategy
