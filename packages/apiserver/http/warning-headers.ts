/**
 * Formats warnings (RFC 7234, section 5.5) as Kubernetes does: texts are bytes of UTF-8, each of
 * which is a character here. Texts with a control character are left out, and so are those that
 * exceed the limit.
 */
export function warningHeaders(warnings: ReadonlySet<string>, bytesMax: number): string[] {
  const out: string[] = []
  let bytes = 0
  for (const text of warnings) {
    if (text === '' || /\p{Cc}/u.test(text)) continue
    const escaped = text.replaceAll(/["\\]/g, (char) => `\\${char}`)
    const written = Buffer.from(escaped, 'utf8').toString('latin1')
    bytes += written.length
    if (bytes > bytesMax) break
    out.push(`299 - "${written}"`)
  }
  return out
}
