/** Tells how long a line works, on standard error: the output is the line alone. */
export function tellExpiry(expiresAtMs: number, ttl: string): void {
  const until = new Date(expiresAtMs).toISOString()
  console.error(
    `Paste it on the machine, as root or a user with sudo. It works for ${ttl}, until ${until}.`,
  )
}
