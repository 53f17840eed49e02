import { StatusError } from '@skerry/api'
import type { AuthorizedRequest } from '@skerry/apiserver'
import { parseClusterTarget } from './cluster-path.ts'

/** Discovery paths, which clients request first. */
const discovery = /^\/(?:api(?:\/v1)?|apis(?:\/[^/?]+){0,2}|openapi(?:\/[^?]*)?|version)\/?(?:\?|$)/
/** This part of a message differs in each request. It is left out, because clients show equal warnings only once. */
const requestName = / \(request [^)]*\)$/
const told: ReadonlySet<number> = new Set([404, 503])

/**
 * Warns about a refused discovery request. There kubectl replaces the refusal's message with a text of its
 * own (“the server is currently unable to handle the request”) but shows warnings, so its user learns which
 * cluster is unreachable, and since when.
 */
export function warnOfRefusal({ request, warn }: AuthorizedRequest, error: unknown): void {
  if (!(error instanceof StatusError) || !told.has(error.code)) return
  if (discovery.test(parseClusterTarget(request.target).target)) {
    warn(error.message.replace(requestName, ''))
  }
}
