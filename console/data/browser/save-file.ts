import { browserClock } from './browser-clock.ts'
import { timeLimits } from '../../limits-table.ts'

/** Gives the viewer a text as a file to keep. */
export function saveFile(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has begun to read by then.
  browserClock.after(timeLimits.savedMs, () => URL.revokeObjectURL(url))
}
