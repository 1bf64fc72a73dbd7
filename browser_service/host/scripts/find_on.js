// Finds the next words in a document, from where the last were found, and shows them. Returns whether there are any.
export default ({ text, back }) => window.find(text, false, back, true);
