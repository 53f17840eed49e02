/** RFC 7234, 5.5, as Kubernetes writes them; those that would be too much are left out. */
export function warningHeaders(warnings: ReadonlySet<string>, bytesMax: number): string[] {
  const out: string[] = []
  let bytes = 0
  for (const text of warnings) {
    const escaped = text.replaceAll(/[\r\n]+/g, ' ').replaceAll(/["\\]/g, (char) => `\\${char}`)
    bytes += escaped.length
    if (bytes > bytesMax) break
    out.push(`299 - "${escaped}"`)
  }
  return out
}
