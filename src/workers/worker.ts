// The entry point of the threads that search and plan: each runs one job at a time. Does not know the jobs.
import { runJob } from './job.ts'
import { serve } from './thread.ts'

serve(runJob)
