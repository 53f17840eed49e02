/** The one importer of @peculiar/x509, which needs reflect-metadata loaded before it. */
import 'reflect-metadata'
export * as x509 from '@peculiar/x509'
