// Says whether a picture of the document may show a secret: a field for one has the focus or a value.
import {field} from "./field.js";

export default most => {
  const within = root => [...root.querySelectorAll('*')].flatMap(e => e.shadowRoot ? own(e.shadowRoot) : []);
  const own = root => [...root.querySelectorAll('input, textarea'), ...within(root)];
  const fields = own(document);
  return fields.length > most || fields.some(e => (e.value || e.matches(':focus')) && field(e).secret);
};
