/** A mirror of Debian, and that of its security updates, as apt is configured with them. */
export interface Mirrors {
  readonly main: string
  readonly security?: string
}

/** Picks the mirrors from lines of URL, suite and component. */
export function mirrorsIn(lines: string, codename: string): Mirrors | undefined {
  const targets = lines.split('\n').map((line) => line.split(' '))
  const urlOf = (wanted: string): string | undefined =>
    targets.find(
      ([url = '', release, component]) =>
        release === wanted && component === 'main' && /^https?:\/\//.test(url),
    )?.[0]
  const main = urlOf(codename)
  const security = urlOf(`${codename}-security`)
  if (main === undefined) return undefined
  return { main, ...(security === undefined ? {} : { security }) }
}
