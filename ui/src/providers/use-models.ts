/** A field for a model's name, and what its provider lists: a call to the vendor, made for those who look for a model. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useRefusal } from '../login/roles.ts'
import { providerTest } from './resource.ts'

/**
 * Returns the models for a field. The list is requested once the field is used, holds no model, or has another
 * provider. `onFocus`: the field's. `ask` asks the provider anew.
 */
export function useModels(providerId: string, { isKnown, model }: { isKnown: boolean; model: string }) {
  const refusal = useRefusal('change', '/providers')
  const [first] = useState({ providerId, model })
  const [isUsed, setUsed] = useState(false)
  const isWanted = isUsed || first.model === '' || first.providerId !== providerId
  const test = useQuery({ ...providerTest(providerId), enabled: isKnown && isWanted && refusal === undefined })
  const ask = () => {
    if (isUsed || isWanted) void test.refetch()
    setUsed(true)
  }
  return { test, models: [...new Set(test.data?.models ?? [])], onFocus: () => setUsed(true), ask }
}
