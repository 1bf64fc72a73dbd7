// Scrolls to where a page was, again and again until it is there: one that is still growing is not long enough at
// first.
export default ([x, y, ms]) => new Promise(done => {
  const until = performance.now() + ms;
  const step = () => {
    scrollTo({left: x, top: y, behavior: "instant"});
    const there = Math.abs(scrollX - x) < 2 && Math.abs(scrollY - y) < 2;
    there || performance.now() > until ? done() : setTimeout(step, 50);
  };
  step();
});
