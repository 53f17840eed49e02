import { StatusError } from '@skerry/api'
import type { AuthorizedRequest } from '@skerry/apiserver'
import { parseClusterTarget } from './cluster-path.ts'

/** What clients ask first: which kinds there are. */
const discovery = /^\/(?:api(?:\/v1)?|apis(?:\/[^/?]+){0,2}|openapi(?:\/[^?]*)?|version)\/?(?:\?|$)/
/** Each request has another one, and clients show a warning once. */
const requestName = / \(request [^)]*\)$/
const told: ReadonlySet<number> = new Set([404, 503])

/**
 * Where kubectl asks which kinds there are, it shows a text of its own in place of a refusal's (“the server is currently
 * unable to handle the request”), but shows warnings: so its user learns which cluster is away, and since when.
 */
export function warnOfRefusal({ request, warn }: AuthorizedRequest, error: unknown): void {
  if (!(error instanceof StatusError) || !told.has(error.code)) return
  if (discovery.test(parseClusterTarget(request.target).target)) {
    warn(error.message.replace(requestName, ''))
  }
}
