// Returns whether an animation runs that ends: what moves for ever is not on its way.
export const isOnItsWay = ({playState, effect}) => playState === 'running' && effect.getComputedTiming().endTime !== Infinity;

export default isOnItsWay;
