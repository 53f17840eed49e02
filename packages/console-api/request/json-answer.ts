import type { ApiAnswer } from '@skerry/apiserver'

/** Returns an answer that nobody may keep: it is of this moment and this user, and may have a secret. */
export function jsonAnswer(status: number, value: object): ApiAnswer {
  return {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
    body: Buffer.from(`${JSON.stringify(value)}\n`),
  }
}
