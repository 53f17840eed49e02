import { fieldInvalid, fieldRequired } from '@skerry/api'
import { checkSubdomainField, type Found } from './checks.ts'

const pathFormat = String.raw`[A-Za-z0-9/\-._~%!$&'()*+,;=:]+`
const pathPattern = new RegExp(`^${pathFormat}$`)

/**
 * Checks the names of controllers and signers: a domain, a slash, and a path that the domain's
 * owner chose.
 */
export function checkDomainPrefixedPath(value: string, field: string, found: Found): void {
  if (!value) {
    found.push(fieldRequired(field))
    return
  }
  const slash = value.indexOf('/')
  const [host, path] = [value.slice(0, Math.max(slash, 0)), value.slice(slash + 1)]
  if (slash <= 0 || !path) {
    const detail = 'must be a domain-prefixed path (such as "acme.io/foo")'
    found.push(fieldInvalid(field, value, detail))
    return
  }
  checkSubdomainField(host, field, found)
  if (pathPattern.test(path)) return
  const detail = `Invalid path (regex used for validation is '${pathFormat}')`
  found.push(fieldInvalid(field, path, detail))
}
