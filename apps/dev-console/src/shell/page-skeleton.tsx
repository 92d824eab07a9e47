import { Skeleton, Stack } from '@mantine/core';
import classes from '../ui/page.module.css';

/** Stands in place of a page while its code and data are loaded. */
export const PageSkeleton = () => (
  <div className={classes.page} role="status" aria-label="Loading">
    <Stack gap="md">
      <Skeleton h={28} w="30%" />
      <Skeleton h={16} w="55%" />
      <Skeleton h={240} mt="md" />
    </Stack>
  </div>
);
