import { useNavigate } from '@tanstack/react-router';
import { queryClient } from '../api.ts';
import { forgetKey } from '../saved-key.ts';

export function useSignOut(): () => void {
  const navigate = useNavigate();
  return () => {
    forgetKey();
    void navigate({ to: '/sign-in' }).then(() => queryClient.clear());
  };
}
