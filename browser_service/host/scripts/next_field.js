// Moves the focus of a phone's keyboard to the form's next field or, if nothing has the focus, to the only field that
// can be meant. Returns whether it did.
const most = 500;
const isField = e => e.matches?.('input, textarea') && !e.disabled && !e.readOnly && e.getClientRects().length > 0
  && !/^(hidden|checkbox|radio|submit|button|file|image|reset|range|color)$/.test(e.type);
const isCode = e => /one-time-code/.test(e.autocomplete) || e.inputMode === 'numeric' || /^(tel|number)$/.test(e.type);

export default onlyIdle => {
  const active = document.activeElement;
  const isIdle = !active || active === document.body || active === document.documentElement;
  if (isIdle ? window !== top : onlyIdle || active.tagName !== 'INPUT' || !active.form || !document.hasFocus()) return false;
  const fields = [...(isIdle ? document.querySelectorAll('input, textarea') : active.form.elements)].slice(0, most).filter(isField);
  const empty = (isIdle ? fields : fields.slice(fields.indexOf(active) + 1)).filter(e => !e.value);
  const next = isIdle ? (empty.filter(isCode)[0] ?? (empty.length === 1 ? empty[0] : undefined)) : empty[0];
  next?.focus();
  return next !== undefined;
};
