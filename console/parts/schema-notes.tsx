/** Brings the schemas of an object's server into an editor, with a list of findings below it. Loaded late: it is large. */
import { useDeferredValue, useEffect, useMemo, useState } from 'react'
import { Compartment, StateEffect } from '@codemirror/state'
import type { EditorView } from '@codemirror/view'
import { useKindSchema } from '../data/objects/use-kind-schema.ts'
import { yamlFindings, yamlKind, type YamlFinding } from '../data/objects/yaml-fields.ts'
import { useTexts } from '../words/language.ts'
import { findingText, schemaSupport } from './schema-support.ts'
import { yamlTexts } from './yaml-texts.ts'

interface SchemaNotesProps {
  readonly view: EditorView
  /** The text in the view. */
  readonly text: string
  /** The cluster whose server knows the fields. Undefined for the hub's own objects. */
  readonly cluster: string | undefined
}

export function SchemaNotes({ view, text, cluster }: SchemaNotesProps) {
  const texts = useTexts(yamlTexts)
  const [support] = useState(() => new Compartment())
  const settled = useDeferredValue(text)
  const kind = useMemo(() => yamlKind(settled), [settled])
  const { schema, error } = useKindSchema(cluster, kind)
  const findings = useMemo(
    () => (schema === undefined ? [] : yamlFindings(settled, schema)),
    [settled, schema],
  )
  useEffect(() => {
    const extension = schema === undefined ? [] : schemaSupport(schema, texts)
    const isThere = support.get(view.state) !== undefined
    const effects = isThere
      ? support.reconfigure(extension)
      : StateEffect.appendConfig.of(support.of(extension))
    view.dispatch({ effects })
  }, [view, schema, texts, support])
  const show = ({ from }: YamlFinding): void => {
    const anchor = Math.min(from, view.state.doc.length)
    view.dispatch({ selection: { anchor }, scrollIntoView: true })
    view.focus()
  }
  return (
    <>
      {error === undefined ? undefined : <p className="muted">{texts.noSchema(error.message)}</p>}
      <Findings text={settled} findings={findings} onShow={show} />
    </>
  )
}

interface FindingsProps {
  readonly text: string
  readonly findings: readonly YamlFinding[]
  readonly onShow: (finding: YamlFinding) => void
}

/** Says in words what is underlined, for people who do not see it, too. */
function Findings({ text, findings, onShow }: FindingsProps) {
  const texts = useTexts(yamlTexts)
  return (
    <div className="yaml-findings" role="status">
      <ul className="plain">
        {findings.map((finding) => (
          <li key={finding.from}>
            <button type="button" className="link-button" onClick={() => onShow(finding)}>
              {texts.line(lineAt(text, finding.from))}
            </button>{' '}
            {findingText(finding, texts)}
          </li>
        ))}
      </ul>
    </div>
  )
}

function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}
