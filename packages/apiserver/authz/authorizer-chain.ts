import { StatusError } from '@skerry/api'
import type { Attributes, Authorizer, Decision } from '../contract/access.ts'

/** The first authorizer that allows or denies decides. The reasons of those without an opinion are joined. */
export function chainAuthorizers(authorizers: readonly Authorizer[]): Authorizer {
  return {
    async authorize(asked): Promise<Decision> {
      const reasons: string[] = []
      const errors: Error[] = []
      for (const authorizer of authorizers) {
        const decision = await authorizer.authorize(asked)
        if (decision.reason !== '') reasons.push(decision.reason)
        if (decision.error) errors.push(decision.error)
        if (decision.verdict === 'allow') return decision
        if (decision.verdict === 'deny') {
          return { verdict: 'deny', reason: reasons.join('\n'), ...withError(errors) }
        }
      }
      return { verdict: 'no-opinion', reason: reasons.join('\n'), ...withError(errors) }
    },
  }
}

function withError(errors: readonly Error[]): { error?: Error } {
  const [only] = errors
  if (errors.length < 2) return only ? { error: only } : {}
  return { error: new Error(`[${errors.map(({ message }) => message).join(', ')}]`) }
}

/** Throws StatusError Forbidden unless the authorizer allows. */
export async function requireAllowed(authorizer: Authorizer, asked: Attributes): Promise<void> {
  const { verdict, reason } = await authorizer.authorize(asked)
  if (verdict !== 'allow') throw forbidden(asked, reason)
}

/** Returns the refusal in the words that kubectl and people know. */
export function forbidden(asked: Attributes, reason: string): StatusError {
  const what = sentence(asked)
  const message = reason === '' ? what : `${what}: ${reason}`
  const { resource = '', group = '' } = asked.resource ?? {}
  const { name = '' } = asked
  return new StatusError('Forbidden', `${subjectOf(group, resource, name)}forbidden: ${message}`, {
    details: {
      ...(name === '' ? {} : { name }),
      ...(group === '' ? {} : { group }),
      ...(resource === '' ? {} : { kind: resource }),
    },
  })
}

function subjectOf(group: string, resource: string, name: string): string {
  if (resource === '') return ''
  const qualified = group === '' ? resource : `${resource}.${group}`
  return name === '' ? `${qualified} is ` : `${qualified} ${JSON.stringify(name)} is `
}

function sentence(asked: Attributes): string {
  const who = `User ${JSON.stringify(asked.user.name)} cannot ${asked.verb}`
  if (!asked.isResourceRequest) return withoutMarkup(`${who} path ${JSON.stringify(asked.path)}`)
  const { resource = '', group = '' } = asked.resource ?? {}
  const whole = asked.subresource ? `${resource}/${asked.subresource}` : resource
  const where = asked.namespace
    ? `in the namespace ${JSON.stringify(asked.namespace)}`
    : 'at the cluster scope'
  return withoutMarkup(
    `${who} resource ${JSON.stringify(whole)} in API group ${JSON.stringify(group)} ${where}`,
  )
}

/** A browser that shows the text must not interpret it as HTML. */
function withoutMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
