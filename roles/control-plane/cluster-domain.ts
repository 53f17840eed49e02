import { checkDnsSubdomain } from '@skerry/api'
import { InvalidArgumentError } from 'commander'

/**
 * Parses the domain under which each cluster has a host name, in the form of certificates and clients. Throws
 * InvalidArgumentError for an invalid one: the hub would start, but no client would find a cluster by its
 * name. Clients (OpenSSL) accept no wildcard below a single label.
 */
export function toClusterDomain(text: string): string {
  const domain = text.toLowerCase().replace(/\.$/, '')
  if (checkDnsSubdomain(domain).length === 0 && domain.includes('.')) return domain
  throw new InvalidArgumentError(
    'write a DNS domain of two parts or more, without wildcard, scheme or port, e.g. clusters.example.com',
  )
}
