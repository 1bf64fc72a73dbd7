// Returns what this world keeps for scripts that are called later: lists of elements, by their keys.
const KEPT = Symbol.for('kept');

export const kept = () => self[KEPT] ??= new Map();
