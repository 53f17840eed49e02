import { StatusError } from '@skerry/api'
import type { ApiAnswer, AuthorizedRequest } from '@skerry/apiserver'
import { explain } from '@skerry/propagation'
import { jsonAnswer } from '@skerry/console-api'
import type { OpenHub } from '../contract/hub-part.ts'
import { hubOf } from './user-hub.ts'

/** Answers why the object that a request names is where it is, with the rights of its asker. */
export async function explainObject(
  hub: OpenHub,
  { info, user, signal }: AuthorizedRequest,
): Promise<ApiAnswer> {
  const of = (name: string): string => info.query.get(name) ?? ''
  const [kind, group, name] = [of('kind'), of('group'), of('name')]
  if (kind === '' || name === '') {
    throw new StatusError('BadRequest', 'Cannot explain: name an object by kind and name')
  }
  const ref = {
    kind: group === '' ? kind : `${kind}.${group}`,
    name,
    namespace: of('namespace') || 'default',
  }
  const { clock } = hub.context
  return jsonAnswer(200, await explain({ hub: hubOf(hub, user), clock }, ref, signal))
}
