import { fieldInvalid, fieldRequired, quoteGo, checkDnsLabel, checkDnsSubdomain } from '@skerry/api'
import type { Found } from '../checks.ts'

export function checkSignerName(name: string, field: string, found: Found): void {
  if (!name) {
    found.push(fieldRequired(field))
    return
  }
  const segments = name.split('/')
  if (segments.length !== 2) {
    const detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
    found.push(fieldInvalid(field, name, detail))
    return
  }
  const [domain = '', path = ''] = segments
  checkLabels(domain, checkDnsLabel, field, found)
  if (!domain.includes('.')) {
    const detail = 'should be a domain with at least two segments separated by dots'
    found.push(fieldInvalid(field, domain, detail))
  }
  checkLabels(path, checkDnsSubdomain, field, found)
}

function checkLabels(
  text: string,
  check: (label: string) => string[],
  field: string,
  found: Found,
): void {
  const wrong = text.split('.').find((label) => check(label).length > 0)
  if (wrong === undefined) return
  for (const problem of check(wrong)) {
    found.push(fieldInvalid(field, text, `validating label ${quoteGo(wrong)}: ${problem}`))
  }
}
