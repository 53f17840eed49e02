import { silentLogger, type Logger } from '@skerry/base'

/** Returns a logger that keeps each error with its fields as a line, and drops everything else. */
export function errorLogger(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = []
  const log: Logger = {
    ...silentLogger,
    error: (message, fields) => void lines.push(`${message} ${JSON.stringify(fields)}`),
    child: () => log,
  }
  return { log, lines }
}
