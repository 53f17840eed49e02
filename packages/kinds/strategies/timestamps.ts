/** RFC 3339 in whole seconds, as metav1.Time is written. */
export function rfc3339(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
