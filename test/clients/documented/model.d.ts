export function startModel(): Promise<{ url: string; close(): Promise<void> }>
