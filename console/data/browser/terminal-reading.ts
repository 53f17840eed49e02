/** Whether shells are drawn for screen readers, as the viewer chose in this browser: that takes more time for each line. */

const storageKey = 'skerry-terminal-reading'

export function isTerminalRead(): boolean {
  return localStorage.getItem(storageKey) === 'yes'
}

export function setTerminalRead(isRead: boolean): void {
  localStorage.setItem(storageKey, isRead ? 'yes' : 'no')
}
