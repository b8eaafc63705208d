(() => {
  const form = document.forms.order;
  const shown = form.querySelector("output");
  let asked = 0;
  async function estimate() {
    const turn = ++asked;
    const wanted = {product: form.product.value, quantity: form.quantity.value};
    if (!wanted.product || !wanted.quantity) { shown.textContent = "-"; return; }
    const answer = await fetch("/api/estimate?" + new URLSearchParams(wanted));
    const reply = answer.ok ? await answer.json() : {};
    if (turn === asked) shown.textContent = reply.estimate || "-";
  }
  form.product.addEventListener("change", estimate);
  form.quantity.addEventListener("input", estimate);
  estimate();
})();
