import { isJsonObject, type GroupVersionResource } from '@skerry/api'
import type { TunnelHeaders } from '@skerry/tunnel'
import { readJson, type Ask } from './edge-calls.ts'
import { viewLimits } from '../limits-table.ts'

const reviewPath = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
const extraPrefix = 'impersonate-extra-'

/** The action that a user wants to take, for the edge's own RBAC to decide. */
export interface Question {
  readonly headers: TunnelHeaders
  readonly verb: string
  readonly resource: GroupVersionResource
  /** The namespace's name in the edge cluster; an empty string means all. */
  readonly namespace: string
}

/** Asks, with the agent's rights, whether the edge allows the impersonated user to do that. */
export async function mayDo(
  own: Ask,
  { headers, verb, resource: of, namespace }: Question,
  signal: AbortSignal,
): Promise<boolean> {
  const { group, version, resource } = of
  const attributes = {
    verb,
    group,
    version,
    resource,
    ...(namespace ? { namespace } : {}),
    ...(resource === 'namespaces' && group === '' && namespace ? { name: namespace } : {}),
  }
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { ...subjectOf(headers), resourceAttributes: attributes },
  }
  const audit = headers['audit-id']
  const answer = await own(
    {
      method: 'POST',
      path: reviewPath,
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        ...(audit === undefined ? {} : { 'audit-id': audit }),
      },
      body: Buffer.from(JSON.stringify(review)),
    },
    signal,
  )
  const told = await readJson(answer)
  const status = isJsonObject(told) ? told['status'] : undefined
  return answer.status === 201 && isJsonObject(status) && status['allowed'] === true
}

/** Reports whether that is allowed in every one of these namespaces; false if there are none. */
export async function mayDoInEach(
  own: Ask,
  question: Omit<Question, 'namespace'>,
  namespaces: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  if (namespaces.length === 0) return false
  for (let at = 0; at < namespaces.length; at += viewLimits.questionsMax) {
    const some = namespaces.slice(at, at + viewLimits.questionsMax)
    const verdicts = await Promise.all(
      some.map((namespace) => mayDo(own, { ...question, namespace }, signal)),
    )
    if (verdicts.includes(false)) return false
  }
  return true
}

/** Reads an impersonation as the API server does: every impersonated user is authenticated. */
function subjectOf(headers: TunnelHeaders) {
  const [user = ''] = valuesOf(headers, 'impersonate-user')
  const named = valuesOf(headers, 'impersonate-group')
  const groups = [...(named.length > 0 ? named : groupsOfAccount(user)), 'system:authenticated']
  const [uid] = valuesOf(headers, 'impersonate-uid')
  // The impersonated user may have chosen the keys: `constructor` and `__proto__` are keys like any other.
  const extra = Object.fromEntries(
    Object.keys(headers)
      .filter((name) => name.startsWith(extraPrefix))
      .map((name) => [unescapedKey(name.slice(extraPrefix.length)), valuesOf(headers, name)]),
  )
  return {
    user,
    groups,
    ...(uid === undefined ? {} : { uid }),
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  }
}

/** Reads a key as the API server does: a key with an invalid escape stays as it is. */
function unescapedKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch (error) {
    if (error instanceof URIError) return key
    throw error
  }
}

function groupsOfAccount(user: string): string[] {
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(user) ?? []
  return namespace ? ['system:serviceaccounts', `system:serviceaccounts:${namespace}`] : []
}

/** Headers carry UTF-8 as bytes. */
function valuesOf(headers: TunnelHeaders, name: string): string[] {
  const value = headers[name] ?? []
  const texts = typeof value === 'string' ? [value] : value
  return texts.map((text) => Buffer.from(text, 'latin1').toString('utf8'))
}
