import { spawn } from 'node:child_process'

/** Asks the desktop to open a web address; where there is none, the person has the address anyway. */
export function openInBrowser(url: string): void {
  if (!/^https?:\/\//.test(url)) return
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open'
  const child = spawn(opener, [url], { stdio: 'ignore', detached: true })
  child.once('error', (error) => console.error(`Cannot open a browser: ${error.message}`))
  child.unref()
}
