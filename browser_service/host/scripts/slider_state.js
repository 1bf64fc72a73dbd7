// Returns what a slider is set to, and its ends.
export default e => ['now', 'min', 'max'].map(each => Number(e.getAttribute(`aria-value${each}`) ?? NaN));
