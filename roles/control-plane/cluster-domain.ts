import { checkDnsSubdomain } from '@skerry/api'
import { InvalidArgumentError } from 'commander'

/**
 * The domain under which each cluster has a host name, as certificates and clients write it. Throws
 * InvalidArgumentError for what is none: the hub would serve, and no cluster be found by its name. Of one part,
 * clients (OpenSSL) take no wildcard.
 */
export function toClusterDomain(text: string): string {
  const domain = text.toLowerCase().replace(/\.$/, '')
  if (checkDnsSubdomain(domain).length === 0 && domain.includes('.')) return domain
  throw new InvalidArgumentError(
    'write a DNS domain of two parts or more, without wildcard, scheme or port, e.g. clusters.example.com',
  )
}
