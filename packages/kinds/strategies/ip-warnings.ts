import { quoteGo } from '@skerry/api'
import { cidrOf, ipOf } from './ip-text.ts'
import { cidrText, ipText, networkOf } from '../addresses/ip.ts'

/** Warns of spellings that are accepted but that other programs may read differently. */
export function warningsOfIp(text: string, field: string): string[] {
  const ip = ipOf(text)
  if (!ip) return []
  const canonical = ipText(ip)
  if (canonical === text) return []
  const [was, better] = [quoteGo(text), quoteGo(canonical)]
  if (ip.length === 16) {
    return [`${field}: IPv6 address ${was} should be in RFC 5952 canonical format (${better})`]
  }
  return [`${field}: non-standard IP address ${was} is invalid: use ${better}`]
}

export function warningsOfCidr(text: string, field: string): string[] {
  const cidr = cidrOf(text)
  if (!cidr) return []
  const { bytes: ip, bits } = cidr
  const was = quoteGo(text)
  const address = ipText(ip)
  const network = ipText(networkOf(cidr))
  const warnings: string[] = []
  const canonical = quoteGo(`${network}/${bits}`)
  if (address !== network) {
    const single = quoteGo(`${address}/${ip.length * 8}`)
    const what = `is ambiguous in this context (should be ${canonical} or ${single}?)`
    warnings.push(`${field}: CIDR value ${was} ${what}`)
  }
  const isPlain = text === cidrText(cidr)
  if (isPlain) return warnings
  if (ip.length === 4) {
    warnings.push(`${field}: non-standard CIDR value ${was} is invalid: use ${canonical}`)
  } else if (warnings.length === 0) {
    const what = `should be in RFC 5952 canonical format (${canonical})`
    warnings.push(`${field}: IPv6 CIDR value ${was} ${what}`)
  }
  return warnings
}
