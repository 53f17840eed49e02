import { useMay, type Deed } from '../data/rights.ts'
import { useTexts } from '../words/language.ts'
import { partTexts } from './texts.ts'

interface AllowedProps {
  /** Undefined for deeds at the hub itself. */
  readonly cluster?: string | undefined
  readonly deed: Deed
  /** Says what is missing to a user who may not do it. If omitted, nothing is shown in place of the contents. */
  readonly isExplained?: boolean
  /** Shows the contents also while nobody can say, because the cluster is away. */
  readonly isLenient?: boolean
  readonly children: React.ReactNode
}

/** Shows buttons and forms to the users who may do what they are for. */
export function Allowed(props: AllowedProps) {
  const { cluster, deed, isExplained = false, isLenient = false, children } = props
  const texts = useTexts(partTexts)
  const may = useMay(cluster, deed)
  if (may === true || (may === undefined && isLenient)) return children
  if (may === undefined || !isExplained) return undefined
  const { group, resource } = deed.object
  const name = group === '' ? resource : `${resource}.${group}`
  const subresource = deed.subresource === undefined ? '' : `/${deed.subresource}`
  return <p className="muted">{texts.mayNot(deed.verb, `${name}${subresource}`)}</p>
}
