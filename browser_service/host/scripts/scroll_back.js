// Scrolls back to where a page was, repeatedly, because a page that is still loading may be too short at first.
export default ([x, y, ms]) => new Promise(done => {
  const until = performance.now() + ms;
  const step = () => {
    scrollTo({left: x, top: y, behavior: "instant"});
    const there = Math.abs(scrollX - x) < 2 && Math.abs(scrollY - y) < 2;
    there || performance.now() > until ? done() : setTimeout(step, 50);
  };
  step();
});
