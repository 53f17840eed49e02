import { StatusError } from '@skerry/api'
import type { ApiAnswer, AuthorizedRequest } from '@skerry/apiserver'
import { createCluster } from '@skerry/client'
import { explain } from '@skerry/propagation'
import { version } from '../../runtime/version.ts'
import type { OpenHub } from '../contract/hub-part.ts'

/** Answers why the object that a request names is where it is, with the rights of its asker. */
export async function explainObject(
  { server, context: { clock, log } }: OpenHub,
  { info, user, signal }: AuthorizedRequest,
): Promise<ApiAnswer> {
  const of = (name: string): string => info.query.get(name) ?? ''
  const [kind, group, name] = [of('kind'), of('group'), of('name')]
  if (kind === '' || name === '') {
    throw new StatusError('BadRequest', 'Cannot explain: name an object by kind and name')
  }
  const userAgent = `skerry-console/${version}`
  const hub = createCluster(server.transport(user), { log, clock, userAgent })
  const ref = {
    kind: group === '' ? kind : `${kind}.${group}`,
    name,
    namespace: of('namespace') || 'default',
  }
  const explanation = await explain({ hub, clock }, ref, signal)
  return {
    status: 200,
    headers: { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' },
    body: Buffer.from(`${JSON.stringify(explanation)}\n`),
  }
}
