// Returns a slider's value and its ends.
export default e => ['now', 'min', 'max'].map(each => Number(e.getAttribute(`aria-value${each}`) ?? NaN));
