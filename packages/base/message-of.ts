/** What was thrown, in its own words; anything may be. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
