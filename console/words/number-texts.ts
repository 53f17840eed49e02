const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

/** Writes a number of bytes with up to three digits: `812 B`, `1.4 KiB`, `37 MiB`. */
export function bytesText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_024
    unit += 1
  }
  const digits = value < 10 && unit > 0 ? 1 : 0
  return `${value.toFixed(digits)} ${units[unit] ?? ''}`
}
