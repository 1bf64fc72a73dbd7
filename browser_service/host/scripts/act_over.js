// Tells field_after that the act is over which it waits for; returns nothing.
export default (_, over) => { dispatchEvent(new Event(over)); };
