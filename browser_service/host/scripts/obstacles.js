// Returns what prevents acts on an element, where Playwright's errors leave it open.
import {named} from "./element_name.js";
import {isInert} from "./is_inert.js";
import {around} from "./past_names.js";

// Returns the name of the open dialog that an element is behind.
const DIALOGS = 'dialog:modal, [aria-modal=true], [role=dialog], [role=alertdialog], dialog[open]';
const dialogBefore = e => {
  const shown = [...document.querySelectorAll(DIALOGS)].filter(d => d.checkVisibility({visibilityProperty: true}) && !d.contains(e));
  const dialog = shown.at(-1), heading = dialog?.querySelector('h1, h2, h3, h4, [role=heading]');
  const labels = [...dialog?.ariaLabelledByElements ?? []].map(label => label.innerText).join(' ');
  return dialog && (dialog.ariaLabel || labels || heading?.innerText || named(dialog)).replace(/\s+/g, ' ').trim();
};

export default (found, points) => found.slice(0, 1).map(e => {
  const style = getComputedStyle(e), {width, height} = e.getBoundingClientRect();
  let hidden = e;
  while (hidden && getComputedStyle(hidden).display !== 'none') hidden = around(hidden);
  const closed = e.closest('details:not([open])'), box = `${Math.round(width)}x${Math.round(height)} px`;
  const {x, y} = e.getBoundingClientRect(), over = e.getRootNode().elementFromPoint(x + width / 2, y + height / 2);
  const shows = e.checkVisibility({visibilityProperty: true}) && width && height;
  const disabled = e.matches(':disabled') || e.closest('[aria-disabled=true]');
  const away = style.pointerEvents === 'none';
  const one = css => css && e.getRootNode().querySelectorAll(css).length === 1;
  const list = e.localName === 'option' && e.closest('select');
  const drawn = l => l.checkVisibility({visibilityProperty: true}) && l.getBoundingClientRect().width;
  const label = e.matches('[type=checkbox], [type=radio]') && [...e.labels || []].find(drawn);
  const attribute = name => e[name] && `[${name}=${CSS.escape(e[name])}]`;
  const [id, name] = [attribute('id'), attribute('name')], inside = [id, name, name && name + attribute('value')];
  const labels = label ? [label.htmlFor && `label[for=${CSS.escape(label.htmlFor)}]`,
    ...inside.filter(own => own).map(own => `label:has(${own})`)] : [];
  const known = labels.find(one) || label && `label >> text="${label.innerText.trim().replace(/\s+/g, ' ')}"`;
  const covered = points && over && (away || !e.contains(over) && !over.contains(e));
  return {
    words: !shows ? 'element is not visible' : disabled ? 'element is not enabled'
      : covered ? `${named(over)} intercepts pointer events` : '',
    behind: (covered || isInert(e)) && dialogBefore(e) || '', inert: isInert(e),
    untouchable: away, label: known || '',
    unseen: hidden ? `${hidden === e ? 'it' : named(hidden).split(' ')[0]} is not displayed`
      : closed && !e.closest('summary') ? 'it is in a <details> that is closed'
      : !width || !height ? `it has no size (${box})`
      : style.visibility !== 'visible' ? `its visibility is ${style.visibility}` : '',
    disabled: Boolean(disabled), choice: list ? e.label.trim() : '',
    inner: !(width && height) && [...e.querySelectorAll('*')].slice(0, 100).some(drawn),
    options: e.options ? [...e.options].map(o => (o.label || o.value) + (o.disabled ? ' (disabled)' : '')) : [],
  };
});
