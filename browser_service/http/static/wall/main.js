// Begins: gets in by the link, if there is one, and shows the wall or the door.

import { arrival, enter, proof } from "./entry.js";
import { gate, waiting } from "./gate.js";

const app = document.getElementById("app");
const show = (content) => app.replaceChildren(content);

async function begin() {
  const { code } = arrival();
  if (code) {
    show(waiting("One moment …"));
    try {
      await enter(code);
    } catch (error) {
      return show(gate(error.message));
    }
  }
  return proof() ? show(waiting("You are in.")) : show(gate());
}

begin();
