import { clientKeyAnnotation, type CertificateHolder } from '@skerry/bootstrap'
import { spkiHash, validityOf } from '@skerry/pki'

const clientKey = 'skerry.io/client-certificate-expires'
const servingKey = 'skerry.io/serving-certificate-expires'

/**
 * Returns the annotations of a node with the ends of its certificates (RFC 3339), so that people see what a hub cannot, and
 * with the key by which the node may come back after the end.
 */
export function certificateAnnotations(
  client: Pick<CertificateHolder, 'current'>,
  serving: Pick<CertificateHolder, 'current'> | undefined,
): Record<string, string> {
  return {
    [clientKey]: endOf(client),
    [clientKeyAnnotation]: spkiHash(client.current.certificatePem),
    // The control plane may not have issued it yet.
    ...(serving === undefined ? {} : { [servingKey]: endOf(serving) }),
  }
}

function endOf({ current }: Pick<CertificateHolder, 'current'>): string {
  return new Date(validityOf(current.certificatePem).notAfterMs).toISOString()
}
