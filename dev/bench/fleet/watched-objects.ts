import type { AnyObject } from '@skerry/api'
import type { RawClient } from '../../processes/raw-client.ts'

/** Calls back with each object of a path as it arrives, until disposed. */
export function watchObjects(
  client: RawClient,
  path: string,
  onObject: (object: AnyObject) => void,
): Promise<Disposable> {
  let rest = ''
  return client.open(`${path}?watch=true`, (chunk) => {
    const lines = (rest + chunk.toString('utf8')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      // An event of a watch that asks for no bookmarks.
      const { object } = JSON.parse(line) as { object: AnyObject }
      onObject(object)
    }
  })
}

/** Sends it, and throws unless it was taken. */
export async function expectSent(
  client: RawClient,
  method: string,
  path: string,
  body: unknown,
): Promise<void> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const answer = await client.send(method, path, body, type)
  if (answer.status >= 200 && answer.status < 300) return
  throw new Error(`Cannot ${method} ${path}: ${answer.status} ${answer.body.toString()}`)
}
