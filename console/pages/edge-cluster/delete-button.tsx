import { useState } from 'react'
import { useLocation } from 'wouter'
import { objectPath } from '../../data/hub/api-paths.ts'
import { edgeClusters, type EdgeClusterObject } from '../../data/edge/edge-cluster.ts'
import { keepMachinesPatch } from '../../data/edge/edge-machines.ts'
import { askHub } from '../../data/hub/hub-request.ts'
import { useAction } from '../../data/hub/use-action.ts'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { partTexts } from '../../parts/texts.ts'
import { useTexts } from '../../words/language.ts'
import { placeWords } from './place-words.ts'
import { texts as both } from './texts.ts'

/** Deletes an edge cluster. Its machines are cleaned, or stay as they are. */
export function DeleteButton({ edge }: { readonly edge: EdgeClusterObject }) {
  const texts = useTexts(both)
  const words = useTexts(partTexts)
  const [, navigate] = useLocation()
  const action = useAction()
  const [machines, setMachines] = useState<'Clean' | 'Keep'>('Clean')
  const { name, namespace } = edge.metadata
  const isImported = edge.spec.import !== undefined
  const count = edge.status?.machines?.length ?? 0
  const path = objectPath(undefined, { ...edgeClusters, namespace, name })
  const act = async (): Promise<void> => {
    if (machines === 'Keep') {
      const contentType = 'application/merge-patch+json'
      await askHub(path, { method: 'PATCH', body: keepMachinesPatch, contentType })
    }
    await askHub(path, { method: 'DELETE' })
  }
  const keep = machines === 'Keep' ? ' --keep-machines' : ''
  return (
    <ConfirmButton
      label={texts.delete}
      name={name}
      action={action}
      act={act}
      onDone={() => navigate('/edge-clusters')}
    >
      {isImported ? (
        <p>{texts.deleteImport}</p>
      ) : (
        <>
          <div className="field">
            <ChoiceField
              label={texts.machines}
              value={machines}
              choices={[
                ['Clean', texts.clean(count)],
                ['Keep', texts.keep(count)],
              ]}
              onChange={setMachines}
            />
          </div>
          <p>{machines === 'Clean' ? texts.cleanText : texts.keepText}</p>
        </>
      )}
      <p>
        <CopyButton
          label={words.asCommand}
          text={`skerry edge-cluster delete ${name}${keep}${placeWords(edge)}`}
        />
      </p>
    </ConfirmButton>
  )
}
