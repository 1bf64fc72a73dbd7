// Tells field_after that its act is over; returns nothing.
export default (_, over) => { dispatchEvent(new Event(over)); };
