import {
  listExtensionLibrary,
  listLibrary,
  optionalLibrary,
  regexLibrary,
  setLibrary,
  stringLibrary,
  twoVariableLibrary,
  type CelLibrary,
} from '@skerry/cel'
import { cidrLibrary, ipLibrary } from './address-library.ts'
import { formatLibrary } from './format-library.ts'
import { quantityLibrary } from './quantity-library.ts'
import { semverLibrary } from './semver-library.ts'
import { urlLibrary } from './url-library.ts'

/** The libraries of every expression in Kubernetes 1.36. The authorizer is added where there is one. */
export const kubernetesLibraries: readonly CelLibrary[] = Object.freeze([
  urlLibrary,
  regexLibrary,
  listLibrary,
  optionalLibrary,
  quantityLibrary,
  stringLibrary,
  setLibrary,
  ipLibrary,
  cidrLibrary,
  formatLibrary,
  twoVariableLibrary,
  semverLibrary,
  listExtensionLibrary,
])
