// Shows dots in place of a field's text, as a password field does, also in pictures; returns nothing.
export default e => {
  if (e.type !== 'password') e.style.setProperty('-webkit-text-security', 'disc', 'important');
};
