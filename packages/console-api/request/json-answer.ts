import type { ApiAnswer } from '@skerry/apiserver'

export function jsonAnswer(status: number, value: object): ApiAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' },
    body: Buffer.from(`${JSON.stringify(value)}\n`),
  }
}
