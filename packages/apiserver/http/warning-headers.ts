/**
 * RFC 7234, 5.5, as Kubernetes writes them: texts are bytes of UTF-8, each of which is a character here, and one with a
 * control character is left out. So are those that would be too much.
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
