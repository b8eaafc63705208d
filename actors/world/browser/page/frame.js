// Runs in an isolated world of every document: it sees the page's DOM and none of the page's code,
// and the page can neither see nor replace it. Everything returned is data; choices are made outside.
(() => {
  const functions = {};

  /* PARTS */

  // Half a character (a page may hold one, clipping may leave one) is not text for anybody else.
  const wellFormed = (_, value) => (typeof value === "string" ? value.toWellFormed() : value);

  // As one string: every layer on the way out would walk and copy an object piece by piece.
  globalThis.rutter = async (name, ...given) => {
    const answer = await functions[name](...given);
    const text = JSON.stringify(answer);
    return text?.includes("\\ud") ? JSON.stringify(answer, wellFormed) : text;
  };
})();
