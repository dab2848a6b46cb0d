/**
 * An exponential mean with one more value in it, that counts by `weight` (0 to 1).
 * @param before 0: there was none, and the value stands for itself
 */
export function smoothed(before: number, value: number, weight: number): number {
  return before === 0 ? value : before + weight * (value - before);
}
