// Tells by the function of this name, which no page can call, of the passkeys that the document's scripts wait for: "waits"
// when the first wait begins, "over" once none is left. A page that looks for a passkey to offer in a field (conditional
// mediation) does not wait.
//
// With `refuses` the event `name` at the window ends the waits with what a person's refusal gives; then, and where the
// browser refuses by itself because nobody is there to ask, it tells "refused".
export default (name, refuses) => {
  const {AbortController, AbortSignal, CredentialsContainer, DOMException} = self, tell = self[name], MOST = 100;
  const {apply} = Reflect, {then} = Promise.prototype, {any} = AbortSignal, {abort} = AbortController.prototype;
  delete self[name];
  if (!CredentialsContainer || !tell) return;
  const open = {__proto__: null}, listen = addEventListener, {includes} = '';
  let asked = 0, waits = 0;

  const refusable = (options, one) => {
    one.refusal = new AbortController();
    const own = one.refusal.signal, theirs = options.signal;
    return {__proto__: options, signal: theirs ? apply(any, AbortSignal, [[theirs, own]]) : own};
  };
  const isNobodys = ({name, message}) => refuses && name === 'NotSupportedError' || apply(includes, message, ['not have focus']);
  const waitFor = (promise, one) => {
    const id = asked++, end = () => {
      if (!open[id]) return;
      delete open[id];
      if (!--waits) tell('over');
    };
    open[id] = one;
    if (!waits++) tell('waits');
    if (one.theirs) apply(listen, one.theirs, ['abort', end, {once: true}]);  // the browser's answer comes later
    return apply(then, promise, [found => { end(); return found; }, error => {
      if (open[id] && (one.refused || isNobodys(error))) tell('refused');
      end();
      throw error;
    }]);
  };
  const {prototype} = CredentialsContainer;
  for (const method of ['get', 'create']) prototype[method] = new Proxy(prototype[method], {
    apply: (target, self, given) => {
      const one = {refused: false};
      let isAsked = false;
      try {  // a page's options may be anything; the browser says what is wrong with them
        const options = given[0];
        isAsked = asked < MOST && !!options?.publicKey && options.mediation !== 'conditional';
        one.theirs = isAsked && options.signal;
        if (isAsked && refuses) given[0] = refusable(options, one);
      } catch {}
      const promise = apply(target, self, given);
      return isAsked ? waitFor(promise, one) : promise;
    },
  });
  if (refuses) listen(name, () => {
    for (const id in open) {
      const one = open[id];
      if (!one.refusal) continue;
      one.refused = true;
      apply(abort, one.refusal, [new DOMException('The operation either timed out or was not allowed.', 'NotAllowedError')]);
    }
  }, {capture: true});
};
